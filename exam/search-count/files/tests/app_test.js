// TODO(@WORD@): more tests
