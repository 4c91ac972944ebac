# SPDX-License-Identifier: GPL-2.0
#
# Cuts an example out of a page of documentation: all literal blocks that follow
# a comment "example: NAME".
#
#	awk -v name=NAME -f doc_example.awk page.rst

/^\.\. example: /		{ mine = $3 == name; next }
mine && /^\.\. code-block::/	{ inside = 1; next }
inside && /^[^ \t]/		{ inside = mine = 0 }
inside				{ sub(/^    /, ""); print; lines++ }
END				{ if (!lines) exit 1 }
