-- What nothing has ended, by slot: what is added to the end of a long one is settled by these alone.
CREATE INDEX claim_by_standing ON claim (bank_key, slot, stance, at) WHERE ends IS NULL;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('claim', 'claim_by_standing', '1000000 100000 3 2 1');
