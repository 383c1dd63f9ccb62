echo @WORD@-@NUMBER@ >server.txt
