-- SPDX-License-Identifier: GPL-2.0
--
-- Work for the interpreter whose stacks "make accuracy" judges:  lua workload.lua SIZE
--
-- Each part crosses the border between the interpreter and its C functions in
-- another way: plain recursion, C that calls back (sort, gsub), errors that leave C
-- by longjmp, coroutines, which each have a C frame of their own, string building,
-- and the collector.  Numbers come from a generator of its own, so that each run
-- does the same and prints the same.
--
-- Errors are few, as the assembler has no table for longjmp itself: were they four
-- times as many, one sample in 900 would be in there.

local size = tonumber(arg[1]) or 1
local seed = 42

local function random(n)
	seed = (seed * 1103515245 + 12345) % 2147483648
	return (seed >> 8) % n
end

local function fib(n)
	if n < 2 then return n end
	return fib(n - 1) + fib(n - 2)
end

local function sorted()
	local t = {}
	for i = 1, 2000 do t[i] = random(100000) end
	table.sort(t, function(a, b) return a % 1000 < b % 1000 or a % 1000 == b % 1000 and a < b end)
	return t[1000]
end

local function words()
	local text = {}
	for i = 1, 300 do text[i] = string.format("%s-%05d", string.char(97 + random(26)), random(99999)) end
	local line, n = table.concat(text, " "), 0
	line = line:gsub("(%a)%-(%d+)", function(a, d)
		n = n + tonumber(d)
		return a:upper() .. d:reverse()
	end)
	return n + #line + select(2, line:gsub("%d-7", "%0"))
end

local function deep(n)
	if n == 0 then error({ code = random(7) }) end
	local ok, e = pcall(deep, n - 1)
	if ok or n % 3 == 0 then return error(e) end
	e.code = e.code + 1
	error(e, 0)
end

local function caught()
	local sum = 0
	for i = 1, 15 do
		local ok, e = pcall(deep, i % 40)
		sum = sum + e.code
	end
	return sum
end

local function tree(n)
	if n == 0 then return {} end
	return { tree(n - 1), tree(n - 1), setmetatable({}, { __index = function(_, k) return k + n end }) }
end

local function walk(t, n)
	if not t[1] then return 1 end
	coroutine.yield(t[3][n])
	return walk(t[1], n + 1) + walk(t[2], n + 1)
end

local function coroutines()
	local co, sum = coroutine.wrap(function() return walk(tree(7), 1) end), 0
	while true do
		local v = co()
		sum = sum + v
		if v == 128 then return sum end
	end
end

local parts = { 0, 0, 0, 0, 0 }
for i = 1, size do
	parts[1] = parts[1] + fib(17)
	parts[2] = parts[2] + sorted()
	parts[3] = parts[3] + words()
	parts[4] = parts[4] + caught()
	parts[5] = parts[5] + coroutines()
	collectgarbage("step", 10)
end
print(table.concat(parts, " "))
