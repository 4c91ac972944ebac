// SPDX-License-Identifier: GPL-2.0
#include <algorithm>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

// threads [ROUNDS]: four threads print words, read and count them, through libstdc++; a bad
// word throws
static int parse(const std::string &text)
{
	std::istringstream in(text);
	int value;

	if (!(in >> value))
		throw std::invalid_argument(text);
	return value;
}

static long work(int seed, int rounds)
{
	std::mt19937 random(seed);
	std::map<std::string, long> counts;
	long bad = 0;

	for (int i = 0; i < 20000 * rounds; i++) {
		std::ostringstream out;

		if (i % 10)
			out << random() % 1000 << ' ' << 1.5 * i;
		else
			out << "no number";
		try {
			counts[out.str()] += parse(out.str());
		} catch (const std::invalid_argument &) {
			bad++;
		}
	}
	return bad + counts.size();
}

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? std::stoi(argv[1]) : 1;
	std::vector<std::thread> threads;
	std::vector<long> results(4);

	for (int i = 0; i < 4; i++)
		threads.emplace_back([i, rounds, &results] { results[i] = work(i, rounds); });
	for (auto &thread : threads)
		thread.join();
	for (long result : results)
		std::cout << result << '\n';
}
