# SPDX-License-Identifier: GPL-2.0
#
# Work for muparser's test program, which answers each line:  awk -v size=N -f expressions.awk
#
# One line in eleven is wrong, in one of six ways: the parser throws, out of one or many
# frames, and main() catches.  Some ten instructions per catch run when the handler's
# frame is laid over their own, where .eh_frame is wrong: with one wrong line in three,
# these would be one sample in 800.
BEGIN {
	for (i = 1; i <= size; i++) {
		nested = i
		for (k = 0; k < i % 12; k++)
			nested = "(" nested "+sin(" k "*" i "))"
		print nested "*2^" i % 5
		print "sum(" i ",2,3," nested ")/max(" i ",min(7," k "))"
		split(nested "+|" nested ")|unknown" i "*2|sin(" nested ",1)|atan2(" i ")|\"text\"+" i, wrong, "|")
		if (i % 5 == 0)
			print wrong[i / 5 % 6 + 1]
	}
	print "quit"
}
