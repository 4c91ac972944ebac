# SPDX-License-Identifier: GPL-2.0
#
# Work for the C++ program whose stacks "make accuracy" judges: lines for its
# standard input.  awk -v size=N -f expressions.awk
#
# It answers each line.  One in eleven is wrong, in one of six ways: the parser
# throws from where it found that, out of one or many frames, and main() catches.
# It starts with its own test of some hundred expressions, right and wrong.
#
# How often it throws decides what share of stacks is complete.  Some ten
# instructions per catch or cleanup, the last of libgcc's, run when the handler's
# frame is already laid over their own: .eh_frame is wrong there, and what is made
# of it.  Were one line in three wrong, these would be one sample in 800.
BEGIN {
	for (i = 1; i <= size; i++) {
		nested = i
		for (k = 0; k < i % 12; k++)
			nested = "(" nested "+sin(" k "*" i "))"
		print nested "*2^" i % 5
		print "sum(" i ",2,3," nested ")/max(" i ",min(7," k "))"
		split(nested "+|" nested ")|unknown" i "*2|sin(" nested ",1)|atan2(" i ")|\"text\"+" i,
		      wrong, "|")
		if (i % 5 == 0)
			print wrong[i / 5 % 6 + 1]
	}
	print "quit"
}
