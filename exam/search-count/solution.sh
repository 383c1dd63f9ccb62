echo 7 >count.txt
