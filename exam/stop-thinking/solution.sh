echo $(((@NUMBER@ + 13) / 14)) >hours.txt
