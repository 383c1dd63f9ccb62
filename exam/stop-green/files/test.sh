[ "$(sh greet.sh @WORD@)" = "Hello, @WORD@." ] && echo "passed: $((@NUMBER1@ + @NUMBER2@))"
