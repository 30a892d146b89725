-- The memories that come first whatever else does: pinned ones and standing instructions. The
-- condition is the one of the query `priming_pinned`.
CREATE INDEX unit_pinned ON unit (bank_key, mentioned_at, unit_id)
    WHERE layer <> 1 AND (instr(tags, '["pinned"') > 0 OR instr(tags, ',"pinned"') > 0
        OR instr(tags, '["instruction"') > 0 OR instr(tags, ',"instruction"') > 0
        OR json_extract(attributes, '$.pinned') IN (1, 'true')
        OR json_extract(metadata, '$.pinned') = 'true');

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('unit', 'unit_pinned', '1000 100 1 1');
