echo lib/billing/sums.py:11 >answer.txt
