// SPDX-License-Identifier: GPL-2.0
/*
 * Exceptions on their way: thrown through frames that clean up, caught, thrown on,
 * and thrown while another one is handled.
 */
#include <stdexcept>
#include <string>

static volatile int count;

struct cleanup {
	explicit cleanup(int step) : step(step) { count = count + step; }
	~cleanup() { count = count - step; }
	int step;
};

__attribute__((noinline)) static void thrower(int n)
{
	cleanup c(n);

	if (n == 0)
		throw 42;
	if (n == 1)
		throw std::runtime_error("one");
	if (n == 2)
		throw std::string("more");
}

__attribute__((noinline)) static int through(int n, int depth)
{
	cleanup c(depth);

	if (depth)
		return through(n, depth - 1) + 1;
	thrower(n);
	return 0;
}

__attribute__((noinline)) static int catcher(int n)
{
	try {
		return through(n, 1);
	} catch (int i) {
		return i;
	} catch (const std::exception &e) {
		return e.what()[0];
	}
}

__attribute__((noinline)) static int again(int n)
{
	try {
		try {
			return catcher(n);
		} catch (const std::string &s) {
			cleanup c(s.size());

			throw;
		}
	} catch (const std::string &s) {
		return catcher(1) + s.size();
	}
}

int main()
{
	return again(2) == 'o' + 4 ? 0 : 1;
}
