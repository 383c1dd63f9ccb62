echo 08:12 >time.txt
