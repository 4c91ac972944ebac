<?php
// SPDX-License-Identifier: GPL-2.0
// As functions.py: functions that have one caller each, judge_functions.py has which.
// They are called by PHP, by functions of C, by generators, operators and the end of objects.

function plain_leaf() { work(300); }
function sort_leaf() { work(100); }
function map_leaf() { work(100); }
function generator_leaf() { work(200); }
function throw_leaf() { work(200); }
function get_leaf() { work(200); }
function next_leaf() { work(200); }
function static_leaf() { work(200); }
function end_leaf() { work(200); }
function replace_leaf() { work(200); return 'x'; }
function eval_leaf() { work(200); }
function wait_leaf() { usleep(300); }

function work($n)
{
	$total = 0;
	for ($i = 0; $i < $n; $i++)
		$total += $i * $i;
	return $total;
}

function plain()
{
	for ($i = 0; $i < 5; $i++)
		plain_leaf();
}

function sort_key($a, $b)
{
	sort_leaf();
	return $a <=> $b;
}

function sorting()
{
	$items = [3, 1, 2, 9, 4];
	usort($items, 'sort_key');
}

function map_function($item)
{
	map_leaf();
	return $item;
}

function mapping()
{
	return array_map('map_function', range(1, 10));
}

function generator()
{
	for ($i = 0; $i < 10; $i++) {
		generator_leaf();
		yield $i;
	}
}

function generate()
{
	foreach (generator() as $item)
		;
}

function throwing()
{
	throw_leaf();
	throw new Exception('x');
}

function catching()
{
	for ($i = 0; $i < 5; $i++) {
		try {
			throwing();
		} catch (Exception $e) {
		}
	}
}

class Got
{
	public function __get($name) { get_leaf(); return 1; }
}

function getting()
{
	$got = new Got();
	for ($i = 0; $i < 5; $i++)
		$got->value;
}

class Items implements Iterator
{
	private $i = 0;
	public function current(): mixed { return $this->i; }
	public function key(): mixed { return $this->i; }
	public function next(): void { next_leaf(); $this->i++; }
	public function rewind(): void { $this->i = 0; }
	public function valid(): bool { return $this->i < 5; }
}

function iterate()
{
	foreach (new Items() as $item)
		;
}

class Named
{
	public static function called() { static_leaf(); }
	public function __destruct() { end_leaf(); }
}

function calling()
{
	for ($i = 0; $i < 5; $i++)
		call_user_func(['Named', 'called']);
}

function destroy()
{
	for ($i = 0; $i < 5; $i++)
		new Named();
}

function replaced($match) { return replace_leaf(); }

function replacing()
{
	preg_replace_callback('/[a-z]/', 'replaced', 'a b c d e');
}

function evaluating()
{
	eval('for ($i = 0; $i < 5; $i++) eval_leaf();');
}

function recurse($depth) { return $depth ? recurse($depth - 1) : work(2000); }
function deep() { recurse(300); recurse(700); }

function strings()
{
	/* Functions of C that C calls */
	return count(array_map('md5', array_fill(0, 300, 'x')));
}

function waiting()
{
	for ($i = 0; $i < 3; $i++)
		wait_leaf();
}

function main($seconds)
{
	$end = hrtime(true) + $seconds * 1e9;
	while (hrtime(true) < $end) {
		plain();
		sorting();
		mapping();
		generate();
		catching();
		getting();
		iterate();
		calling();
		destroy();
		replacing();
		evaluating();
		deep();
		strings();
		waiting();
	}
}

main((float)$argv[1]);
