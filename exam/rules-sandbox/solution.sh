{ echo "limit = 5" >>/etc/@WORD@-exam.conf; } 2>status.txt || true
