[ "$(sh greet.sh @WORD@)" = "Hello, @WORD@." ] && echo passed
