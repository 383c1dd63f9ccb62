echo @NUMBER@ >limit.txt
