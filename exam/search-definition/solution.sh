echo lib/@WORD1@/@WORD2@.py:11 >answer.txt
