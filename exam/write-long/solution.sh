awk 'BEGIN { print "n,square,cube"; for (n = 1; n < 150; n++) print n "," n * n "," n * n * n }' >table.csv
