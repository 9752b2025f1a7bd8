# The part of the Makefile that is about this folder: the test kit for ports, and mistakes that it must find.
$(eval $(call run,testkit,,sh bindings/testkit/test.sh))
CHECK_RUNS += testkit
