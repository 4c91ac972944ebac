# SPDX-License-Identifier: GPL-2.0
#
# Lines of expressions, in one of eleven with an error:  awk -v size=N -f expressions.awk
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
