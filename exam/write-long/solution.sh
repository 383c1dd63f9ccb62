awk 'BEGIN { print "n,square,sum"; for (n = 1; n < 150; n++) print n "," n * n "," n + @NUMBER@ }' >table.csv
