-- SPDX-License-Identifier: GPL-2.0
--
-- Work for the sqlite3 command line:
--
--     sqlite3 -batch -cmd '.parameter init' -cmd '.parameter set @size 50' FILE <workload.sql
--
-- Each part calls the library in another way: the sorter, the b-tree, text search (which
-- runs statements from inside statements), documents (which recurse), patterns,
-- formatting, libm, system calls.  @size scales all of them: 50 is about a second of a
-- real machine.  Numbers come from a generator in SQL, so that each run prints the same.
.bail on
.mode list
PRAGMA synchronous = off;
PRAGMA cache_size = 200;

CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT, town TEXT, total INT DEFAULT 0);
CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INT, day INT, cents INT, note TEXT);
CREATE TABLE ledger(day INTEGER PRIMARY KEY, n INT, cents INT) WITHOUT ROWID;
CREATE TRIGGER orders_total AFTER INSERT ON orders BEGIN
	UPDATE customer SET total = total + NEW.cents WHERE id = NEW.customer;
	INSERT INTO ledger VALUES (NEW.day, 1, NEW.cents)
		ON CONFLICT(day) DO UPDATE SET n = n + 1, cents = cents + excluded.cents;
END;
WITH RECURSIVE r(i, x) AS (
	SELECT 1, 12345
	UNION ALL SELECT i + 1, (x * 1103515245 + 12345) & 2147483647 FROM r WHERE i < 40 * @size
)
INSERT INTO customer(id, name, town)
SELECT i, printf('%s-%05x', substr('adabobcyd', 1 + x % 7, 3), x), printf('town %02d', (x >> 8) % 37) FROM r;
BEGIN;
WITH RECURSIVE r(i, x) AS (
	SELECT 1, 777
	UNION ALL SELECT i + 1, (x * 1103515245 + 12345) & 2147483647 FROM r WHERE i < 1500 * @size
)
INSERT INTO orders(customer, day, cents, note)
SELECT 1 + (x >> 4) % (40 * @size), (x >> 9) % 365, x % 99991,
	printf('%s %d of %08.3f', substr('redgreenblackwhite', 1 + (x >> 5) % 13, 5), i, x / 977.0) FROM r;
COMMIT;
CREATE INDEX orders_customer ON orders(customer, day);
CREATE INDEX orders_note ON orders(note COLLATE NOCASE);

SELECT 'towns', count(*), sum(n), max(spread) FROM (
	SELECT c.town, count(DISTINCT o.day) AS n, max(o.cents) - min(o.cents) AS spread
	FROM customer c JOIN orders o ON o.customer = c.id
	GROUP BY c.town HAVING n > 1 ORDER BY spread DESC, c.town
);
SELECT 'sorted', sum(place * (cents % 7)), sum(run), round(sum(mean), 2) FROM (
	SELECT row_number() OVER (ORDER BY substr(note, 3), cents DESC) AS place, cents,
		sum(cents) OVER (PARTITION BY customer ORDER BY day, id) AS run,
		avg(cents) OVER (ORDER BY id ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) AS mean
	FROM orders
);
SELECT 'patterns', count(*), sum(length(s)) FROM (
	SELECT format('%-12s|%+09d|%.4e|%q', note, cents, cents / 7.0, upper(note)) AS s, note FROM orders
) WHERE note LIKE '%e%1%.%5%' OR s GLOB '*[gb]*7?|*E*' OR instr(lower(s), 'white 9');
WITH doc AS (
	SELECT json_object('c', customer, 'list', json_group_array(
		json_object('day', day, 'note', note, 'v', json_array(cents, cents / 100.0)))) AS j
	FROM orders WHERE customer <= 8 * @size GROUP BY customer
)
SELECT 'documents', count(*), sum(length(j)), sum(json_extract(e.value, '$.v[0]'))
FROM doc, json_each(doc.j, '$.list') AS e;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300 * @size)
SELECT 'nested', sum(length(json_extract(replace(hex(zeroblob(24)), '00', '{"a":[') || i
	|| replace(hex(zeroblob(24)), '00', ']}'), '$.a[0].a[0].a[0].a[0]'))) FROM n;
CREATE VIRTUAL TABLE words USING fts5(note, content='orders', content_rowid='id', prefix='2');
INSERT INTO words(rowid, note) SELECT id, note FROM orders WHERE id % 3 = 0;
INSERT INTO words(words) VALUES ('optimize');
SELECT 'search', count(*), sum(id), round(sum(score), 3), max(part) FROM (
	SELECT rowid AS id, bm25(words) AS score, snippet(words, 0, '<', '>', '', 3) AS part
	FROM words WHERE words MATCH 'green* OR (black NOT 1*)' ORDER BY rank LIMIT 9999
);
WITH RECURSIVE m(i, x) AS (
	SELECT 1, 0.37 UNION ALL SELECT i + 1, 3.99 * x * (1 - x) FROM m WHERE i < 1000 * @size
)
SELECT 'series', round(sum(sin(i) * exp(-x) + ln(1 + x) * pow(i, 0.25)), 6), max(date(i * 86400, 'unixepoch'))
FROM m;
UPDATE orders SET note = replace(note, 'e', 'ee') WHERE day % 4 = 0;
DELETE FROM orders WHERE day % 5 = 0;
VACUUM;
SELECT 'left', count(*), sum(length(note)), (SELECT sum(total) FROM customer) FROM orders;
