# SPDX-License-Identifier: GPL-2.0
#
# Print a C file of n functions, for the frames that compilers make of them.
# Numbers differ from function to function, and with them size and shape of
# frames.  KIND is one of the kinds below; without it they take turns.
#
# usage: awk -v n=100 [-v KIND=name] -f ...

# Statements that make much code of a function, some of it cold
function large(i,	k, text)
{
	for (k = 0; k < 12; k++)
		text = text " if (ext(a, " k ") > r + " i ")" \
			" gone(a, b, r, s[" k "], " k ", " i ", b + " k ");"
	return text
}

# The head and body of function @i, whose frame has about @size bytes
function code(kind, i, size)
{
	if (kind == "leaf")
		return "(ul a) { return a + " i "; }"
	if (kind == "buffer")
		return "(ul a) { char b[" size "];" \
			" return ext((ul)b, a) + b[a % " size "]; }"
	if (kind == "alloca")
		return "(ul a) { char *b = __builtin_alloca(a);" \
			" return ext((ul)b) + b[0]; }"
	if (kind == "variadic")
		return "(int n, ...) { va_list v; ul r = 0; va_start(v, n);" \
			" while (n--) r += va_arg(v, ul);" \
			" va_end(v); return ext(r); }"
	# Much to keep across calls: registers are saved
	if (kind == "saves")
		return "(ul a, ul b, ul c, ul d, ul e) {" \
			" ul r = ext(a) * ext(b); r ^= ext(c) - ext(d);" \
			" return r + ext(e) + a + b + c + d; }"
	# The compiler moves what is cold away, to where the frame is complete
	if (kind == "noreturn")
		return "(ul a) { if (a > " i ") gone(a); return ext(a, " i "); }"
	if (kind == "cold")
		return "(ul a, ul b) { char s[" size "]; ul r = ext((ul)s, a);" \
			" if (r > " i ") gone(r, a, b);" \
			" return ext(r, b) + s[a] + b; }"
	if (kind == "cold_plain")
		return "(void) { char s[" size "]; if (ext((ul)s) > " i ")" \
			" gone(s[3]); return s[5]; }"
	if (kind == "cold_alloca")
		return "(ul a, ul b) { char *s = __builtin_alloca(b);" \
			" ul r = ext((ul)s, a); if (r > " i ") gone(r, a, b);" \
			" return ext(r, b) + s[a] + b; }"
	# More than 256 bytes of code, in the cold part as well
	if (kind == "large")
		return "(ul a, ul b) { char s[" size "]; ul r = ext((ul)s, a);" \
			large(i) " return ext(r, b) + s[a]; }"
	if (kind == "large_plain")
		return "(void) { char s[" size "]; ul a = 0, b = 1, r = 2; ext((ul)s);" \
			large(i) " return s[5]; }"
	if (kind == "large_alloca")
		return "(ul a, ul b) { char t[" size "], *s = __builtin_alloca(b);" \
			" ul r = ext((ul)s, (ul)t); " large(i) \
			" return ext(r, b) + s[a] + t[b]; }"
	# The stack is realigned, and then of variable size
	if (kind == "aligned")
		return "(ul a) { char b[" size "] __attribute__((aligned(64)));" \
			" char *p = __builtin_alloca(a);" \
			" return ext((ul)b, p) + b[3]; }"
	if (kind == "switch")
		return "(ul a) { switch (a) { case 1: return ext(1);" \
			" case 2: return ext(a, 1, 2, 3, 4, 5, 6, 7, 8, 9);" \
			" case 3: return 7; case 4: return ext(9) + 1;" \
			" case 5: return ext(8) * 3;" \
			" default: return ext(a + 1) + ext(a + 2); } }"
	# No code at all
	if (kind == "empty")
		return "(ul a) { __builtin_unreachable(); }"
	# Called and pointed to: its entry in the PLT is one of another size
	if (kind == "pointer")
		return "(ul a) { return ext((ul)&taken, taken(a)); }"
	if (kind == "loop")
		return "(ul a) { for (ul i = 0; i < a; i++)" \
			" if (ext(i) == " i ") return i;" \
			" return ext(a); }"
	print "no such kind: " kind >"/dev/stderr"
	exit 1
}

BEGIN {
	NUM_EXT = 20
	num_kinds = split("leaf buffer alloca variadic saves noreturn " \
		"cold cold_plain cold_alloca large large_plain large_alloca " \
		"aligned switch empty pointer loop", kinds)
	if (!n) {
		for (i = 1; i <= num_kinds; i++)
			print kinds[i]
		exit
	}
	print "#include <stdarg.h>"
	print "typedef unsigned long ul;"
	print "extern ul taken(ul);"
	print "extern void gone(ul, ...) __attribute__((noreturn, cold));"
	# More than 256 bytes of PLT
	for (i = 0; i < NUM_EXT; i++)
		print "extern ul ext" i "(ul, ...);"
	for (i = 0; i < n; i++) {
		size = 8 + (i * 37) % 900
		# Some frames need larger words
		if (i % 16 == 7)
			size *= 300
		kind = KIND ? KIND : kinds[i % num_kinds + 1]
		text = code(kind, i, size)
		gsub(/ext\(/, "ext" i % NUM_EXT "(", text)
		print "ul " kind i text
	}
}
