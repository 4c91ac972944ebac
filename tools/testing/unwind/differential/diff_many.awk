# SPDX-License-Identifier: GPL-2.0
#
# Print a C file of n functions of ten kinds, for the frames that compilers make
# of them; numbers differ, so that frames do in size and shape.
#
# usage: awk -v n=2000 -f ...
function body(kind, i, size)
{
	if (kind == 0)
		return "(ul a) { return a + " i "; }"
	if (kind == 1)
		return "(ul a) { char b[" size "];" \
			" return ext((ul)b, a) + b[a % " size "]; }"
	if (kind == 2)
		return "(ul a) { char *b = __builtin_alloca(a);" \
			" return ext((ul)b) + b[0]; }"
	if (kind == 3)
		return "(int n, ...) { va_list v; ul r = 0; va_start(v, n);" \
			" while (n--) r += va_arg(v, ul);" \
			" va_end(v); return ext(r); }"
	# Much to keep across calls
	if (kind == 4)
		return "(ul a, ul b, ul c, ul d, ul e) {" \
			" ul r = ext(a) * ext(b); r ^= ext(c) - ext(d);" \
			" return r + ext(e) + a + b + c + d; }"
	if (kind == 5)
		return "(ul a) { if (a > " i ") gone(); return ext(a, " i "); }"
	# The stack is realigned, and then of variable size
	if (kind == 6)
		return "(ul a) { char b[" size "] __attribute__((aligned(64)));" \
			" char *p = __builtin_alloca(a);" \
			" return ext((ul)b, p) + b[3]; }"
	if (kind == 7)
		return "(ul a) { switch (a) { case 1: return ext(1);" \
			" case 2: return ext(a, 1, 2, 3, 4, 5, 6, 7, 8, 9);" \
			" case 3: return 7; case 4: return ext(9) + 1;" \
			" case 5: return ext(8) * 3;" \
			" default: return ext(a + 1) + ext(a + 2); } }"
	# No code at all
	if (kind == 8)
		return "(ul a) { __builtin_unreachable(); }"
	return "(ul a) { for (ul i = 0; i < a; i++)" \
		" if (ext(i) == " i ") return i; return f" (i - 8) "(a); }"
}

BEGIN {
	print "#include <stdarg.h>"
	print "typedef unsigned long ul;"
	print "extern ul ext(ul, ...);"
	print "extern void gone(void) __attribute__((noreturn));"
	for (i = 0; i < n; i++) {
		size = 8 + (i * 37) % 900
		# Some frames need larger words
		if (i % 97 == 0)
			size *= 300
		print "ul f" i body(i % 10, i, size)
	}
}
