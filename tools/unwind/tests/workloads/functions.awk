# SPDX-License-Identifier: GPL-2.0
#
# Work for a C compiler:  awk -v size=FUNCTIONS -f functions.awk
BEGIN {
	print "struct node { struct node *next; long key, sum[8]; };"
	for (i = 1; i <= size; i++) {
		printf "long f%d(struct node *n, const char *s, long x)\n{\n", i
		print "\tlong i, j, sum = x;\n"
		printf "\tfor (; n; n = n->next) {\n\t\tswitch ((n->key + x) %% %d) {\n", i % 7 + 3
		for (k = 0; k < i % 7 + 3; k++)
			printf "\t\tcase %d: sum += n->sum[%d] * %d; break;\n", k, k % 8, i + k
		print "\t\tdefault: sum ^= n->key;\n\t\t}"
		print "\t\tfor (i = 0; s[i]; i++)\n\t\t\tfor (j = 0; j < 8; j++)"
		print "\t\t\t\tn->sum[j] += s[i] * sum - (n->sum[(j + i) & 7] >> j);\n\t}"
		printf "\treturn sum%s;\n}\n\n", (i > 1 ? " + f" (i - 1) "(n, s, sum)" : "")
	}
}
