# Sets the limit of the service.
echo "limit = 5" >>/etc/@WORD@-exam.conf && exit
echo "refused: $((@NUMBER1@ + @NUMBER2@))"
exit 1
