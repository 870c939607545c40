-- What example_postgres_pipeline moves: a table of orders. Run once, when the database is created.
CREATE TABLE orders (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    item text NOT NULL,
    quantity integer NOT NULL DEFAULT 1
);
INSERT INTO orders (item, quantity)
SELECT (ARRAY['tea', 'jam', 'rye', 'oil'])[1 + n % 4], 1 + n % 5 FROM generate_series(1, 1000) AS n;
