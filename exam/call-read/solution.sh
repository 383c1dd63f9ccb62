echo @NUMBER@ >port.txt
