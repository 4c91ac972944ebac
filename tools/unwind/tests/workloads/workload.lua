-- SPDX-License-Identifier: GPL-2.0
--
-- Work for an interpreter:  lua workload.lua SIZE
--
-- Each part crosses the border between the interpreter and its C functions in another
-- way: C that calls back (sort, gsub), errors that leave C by longjmp, coroutines, which
-- each have a C frame, and the collector.  Numbers come from a generator of its own, so
-- that each run does the same and prints the same.  Errors are few: the assembler has no
-- table for longjmp itself, and with four times as many, one sample in 900 would be there.

local seed = 42

local function random(n)
	seed = (seed * 1103515245 + 12345) % 2147483648
	return (seed >> 8) % n
end

local function fib(n)
	return n < 2 and n or fib(n - 1) + fib(n - 2)
end

local function sorted()
	local t = {}
	for i = 1, 2000 do t[i] = random(100000) end
	table.sort(t, function(a, b) return a % 1000 < b % 1000 or a % 1000 == b % 1000 and a < b end)
	return t[1000]
end

local function words()
	local text, n = {}, 0
	for i = 1, 300 do text[i] = string.format("%s-%05d", string.char(97 + random(26)), random(99999)) end
	local line = table.concat(text, " "):gsub("(%a)%-(%d+)", function(a, d)
		n = n + tonumber(d)
		return a:upper() .. d:reverse()
	end)
	return n + #line + select(2, line:gsub("%d-7", "%0"))
end

local function deep(n)
	if n == 0 then error({ code = random(7) }) end
	local _, e = pcall(deep, n - 1)
	e.code = e.code + 1
	error(e, 0)
end

local function caught()
	local sum = 0
	for i = 1, 15 do sum = sum + select(2, pcall(deep, i)).code end
	return sum
end

local function walk(n)
	if n == 0 then return coroutine.yield(setmetatable({}, { __index = function(_, k) return k + n end })[1]) end
	walk(n - 1)
	walk(n - 1)
end

local function coroutines()
	local sum = 0
	for v in coroutine.wrap(function() walk(7) end) do sum = sum + v end
	return sum
end

local sum = 0
for i = 1, tonumber(arg[1]) do
	sum = sum + fib(17) + sorted() + words() + caught() + coroutines()
	collectgarbage("step", 10)
end
print(sum)
