# SPDX-License-Identifier: GPL-2.0
#
# From a file of C to one with mutants.  $UNWIND_MUTANT says at run time which
# of them it is; lines keep their numbers.
#
# - A check, that is a "return" of an error in a branch of its own, is left out.
# - A comparison is off by one: it includes equality, or excludes it.
# - An error is another one.
#
# The number, the line and a description of each goes to the file LIST.
#
# MORE is a regular expression of statements besides "return" of an error that are
# left out where they are a branch.
#
# usage: awk -v LIST=file [-v MORE=regex] -f mutants.awk sframe.c

BEGIN {
	printf "%s", "static int unwind_mutant; " \
		"char *getenv(const char *); int atoi(const char *); " \
		"static void __attribute__((constructor)) choose_mutant(void) " \
		"{ const char *s = getenv(\"UNWIND_MUTANT\"); " \
		"unwind_mutant = s ? atoi(s) : 0; } "
}

# White space becomes one blank
function text(s)
{
	gsub(/[ \t]+/, " ", s)
	sub(/^ /, "", s)
	return s
}

function note(what)
{
	printf "%d\t%d\t%s\n", ++num, NR, what >LIST
	return num
}

# Comparisons for which equality changes nothing: a size that is not zero makes a sum
# greater or smaller; what is sorted is the same whichever of two equals comes first; a
# segment has no room at its end; what begins where its block or function ends gives way
# to what begins there; after the last entry is room for one that says nothing; and an FRE
# that is not remembered is decoded each time
function equal_is_same(rest)
{
	return rest ~ /^ [<>] (start|\*offset)[);]/ ||
		rest ~ /^ < (f[ab]->|func\[-1\]|seg->size|b->nr &&)/ ||
		rest ~ /^ (>= size|<= end)\)$/ || rest ~ /^ > (fre->words \+|b->sec\.fre_len)/
}

# Each comparison of the present line; blanks around it tell it from others
function off_by_one(	done, id, op)
{
	done = ""
	while (match(line, / (<|>|<=|>=) /)) {
		op = substr(line, RSTART, RLENGTH)
		if (equal_is_same(substr(line, RSTART))) {
			done = done substr(line, 1, RSTART + RLENGTH - 1)
			line = substr(line, RSTART + RLENGTH)
			continue
		}
		id = "(unwind_mutant == " note("off by one: " text($0)) ")"
		done = done substr(line, 1, RSTART - 1) \
			(op ~ /^ (<|>=) $/ ? op id " + " : " + " id op)
		line = substr(line, RSTART + RLENGTH)
	}
	line = done line
}

{ line = $0 }

# Two tabs or more, and no statement before it: the branch of something
/^\t\t+return (ret|-E[A-Z0-9]+);$/ && before !~ /;$/ {
	id = note("left out: " text(before) " " text($0))
	sub(/return /, "if (unwind_mutant != " id ") return ", line)
}

/^\treturn .*\? 0 : -E[A-Z0-9]+;$/ {
	id = note("left out: " text($0))
	sub(/-E/, "unwind_mutant == " id " ? 0 : -E", line)
}

MORE != "" && $0 ~ "^\t\t+(" MORE ");$" && before !~ /;$/ {
	id = note("left out: " text(before) " " text($0))
	line = "if (unwind_mutant != " id ") " line
}

/^\t/ { off_by_one() }

# In code; a line of a comment begins with a star
/-E[A-Z0-9]+/ && !/^[ \t]*\/?\*/ {
	id = note("another error: " text($0))
	gsub(/-E[A-Z0-9]+/, "(unwind_mutant == " id " ? -EXDEV : &)", line)
}

{
	before = $0
	print line
}
