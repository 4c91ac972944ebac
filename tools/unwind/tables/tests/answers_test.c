// SPDX-License-Identifier: GPL-2.0
/*
 * The notes of the service, as status reads them.
 *
 *	answers_test DIR
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../answers.h"
#include "../mapped.h"

#define SUBJECT	"answers"
#include "result.h"

/* A new file, which has the number @number in @st */
static int make_file(const char *dir, const char *name, struct stat *st)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(fd, st))
		exit(2);
	return fd;
}

static unsigned int count(const struct answered *list)
{
	unsigned int i, n = 0;

	for (i = 0; i < ANSWERS_MAX; i++)
		n += *list[i].path != '\0';
	return n;
}

static bool ends_with(const char *text, const char *end)
{
	return strlen(text) >= strlen(end) && !strcmp(text + strlen(text) - strlen(end), end);
}

static void test_notes(const char *dir)
{
	const struct answered *a, *b;
	struct answered *list;
	struct stat sa, sb;
	int answers = answers_create(false);
	int fa = make_file(dir, "added", &sa), fb = make_file(dir, "refused\n", &sb);

	answers_note(answers, fa, 17, NULL);
	answers_note(answers, fb, 4, "for no reason");
	list = answers_read();
	a = answers_find(list, sa.st_dev, sa.st_ino);
	b = answers_find(list, sb.st_dev, sb.st_ino);
	result(count(list) == 2 && a && b, "what was noted is found");
	result(a && !a->refused && a->ms == 17 && !*a->why && ends_with(a->path, "/added"),
	       "a table has its time");
	result(b && b->refused && b->ms == 4 && !strcmp(b->why, "for no reason") &&
	       ends_with(b->path, "/refused?"), "a file without one has the reason");
	result(!answers_find(list, sa.st_dev, sa.st_ino + ANSWERS_MAX) &&
	       !answers_find(list, sa.st_dev + 1, sa.st_ino), "another file is not found");
	free(list);

	answers_note(answers, fb, 5, NULL);
	list = answers_read();
	b = answers_find(list, sb.st_dev, sb.st_ino);
	result(count(list) == 2 && b && !b->refused && b->ms == 5, "a later answer replaces it");
	free(list);
	close(answers);

	close(answers_create(true));
	list = answers_read();
	result(count(list) == 2, "a restart keeps them");
	free(list);
	close(answers_create(false));
	list = answers_read();
	result(!count(list) && !answers_find(list, sa.st_dev, sa.st_ino), "a start does not");
	free(list);
	close(fa);
	close(fb);
}

static void test_long_names(const char *dir)
{
	char path[4096], name[256], why[4096];
	const struct answered *a;
	struct answered *list;
	struct stat st;
	int answers = answers_create(false), fd;

	memset(name, 'n', sizeof(name) - 2);
	name[sizeof(name) - 2] = '\0';
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	mkdir(path, 0700);
	memset(why, 'w', sizeof(why) - 1);
	why[sizeof(why) - 1] = '\0';
	fd = make_file(path, name, &st);
	answers_note(answers, fd, 1, why);
	list = answers_read();
	a = answers_find(list, st.st_dev, st.st_ino);
	result(a && strlen(a->path) == sizeof(a->path) - 1 && ends_with(a->path, name) &&
	       strlen(a->why) == sizeof(a->why) - 1, "what is too long is cut");
	free(list);
	close(fd);
	close(answers);
}

/* status is root's, and prints what it reads */
static void test_garbage(void)
{
	struct answered junk, *list;
	int answers = answers_create(false);
	unsigned int i;
	bool ok = true;

	memset(&junk, '\033', sizeof(junk));
	for (i = 0; i < ANSWERS_MAX; i++)
		ok &= write(answers, &junk, sizeof(junk) - (i == 7)) > 0;
	list = answers_read();
	for (i = 0; i < ANSWERS_MAX; i++)
		ok &= memchr(list[i].path, '\0', sizeof(junk.path)) &&
		      memchr(list[i].why, '\0', sizeof(junk.why)) &&
		      !strchr(list[i].path, '\033') && !strchr(list[i].why, '\033');
	result(ok, "nothing else is printed");
	free(list);
	close(answers);
}

/* Names as users choose them, and as status prints them */
static void test_names(void)
{
	static const char * const names[][2] = {
		{ "plain ~", "plain ~" },
		{ "\t\033[1m\177", "??[1m?" },
		{ "gr\u00fc\u00df \u20ac \U0001f600", "gr\u00fc\u00df \u20ac \U0001f600" },
		/* NBSP is the first one after control, and has a byte of control's range */
		{ "\302\240\303\233", "\302\240\303\233" },
		/* Control, as a byte and in UTF-8, also in more bytes than it takes */
		{ "\23331m\200\237", "?31m??" },
		{ "\302\23331m\302\200\302\237", "??31m????" },
		{ "\340\202\233\360\200\202\233", "???????" },
		/* No letters: cut short, surrogates, too large, and no UTF-8 at all */
		{ "\342\202", "??" },
		{ "\342\23331m", "??31m" },
		{ "\355\240\233\364\237\200\200", "???????" },
		{ "\370\210\200\200\233\377\351", "???????" },
	};
	bool ok = true;
	char name[32];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(name, sizeof(name), "%s", names[i][0]);
		make_printable(name);
		if (strcmp(name, names[i][1]))
			printf("# name %zu is %s\n", i, name);
		ok &= !strcmp(name, names[i][1]);
	}
	result(ok, "names keep their letters, and no control");
}

static void test_nowhere(void)
{
	struct answered *list;
	int answers;

	setenv("RUNTIME_DIRECTORY", "/proc/nowhere", 1);
	answers = answers_create(false);
	answers_note(answers, STDIN_FILENO, 1, NULL);
	list = answers_read();
	result(answers < 0 && list && !count(list), "without a directory there are none");
	free(list);
}

int main(int argc, char **argv)
{
	struct stat st;
	char path[4096];

	if (argc != 2)
		return 2;
	mkdir(argv[1], 0700);
	setenv("RUNTIME_DIRECTORY", argv[1], 1);
	test_notes(argv[1]);
	snprintf(path, sizeof(path), "%s/answers", argv[1]);
	result(!stat(path, &st) && (st.st_mode & 0777) == 0600, "only root reads them");
	test_long_names(argv[1]);
	test_garbage();
	test_names();
	test_nowhere();
	return end_results();
}
