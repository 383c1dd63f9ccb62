echo @WORD@-@NUMBER@ >code.txt
