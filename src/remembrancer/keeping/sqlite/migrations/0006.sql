-- What the agent means to do later. data: what is not looked for.
CREATE TABLE intention (
    bank_key INTEGER NOT NULL,
    intention_id BLOB NOT NULL,
    place INTEGER NOT NULL,
    version INTEGER NOT NULL,
    state TEXT NOT NULL,
    trigger_type TEXT NOT NULL,
    next_due INTEGER,
    event TEXT,
    source_id BLOB,
    tier_rank REAL,
    importance REAL NOT NULL,
    expires_at INTEGER,
    threshold REAL,
    cue_generation INTEGER NOT NULL,
    standing INTEGER NOT NULL,
    data TEXT NOT NULL,
    cue BLOB,
    PRIMARY KEY (bank_key, intention_id)
);
CREATE INDEX intention_by_due ON intention (bank_key, next_due, intention_id)
    WHERE next_due IS NOT NULL AND state = 'active';
CREATE INDEX intention_due ON intention (next_due, bank_key)
    WHERE next_due IS NOT NULL AND state = 'active';
CREATE INDEX intention_by_event ON intention (bank_key, event, intention_id)
    WHERE event IS NOT NULL AND state = 'active';
CREATE INDEX intention_by_source ON intention (bank_key, source_id) WHERE source_id IS NOT NULL;
CREATE INDEX intention_by_state ON intention (bank_key, state, intention_id, tier_rank);
CREATE INDEX intention_unindexed ON intention (bank_key, intention_id)
    WHERE state = 'active' AND (standing = 1 OR trigger_type = 'composite'
        OR (trigger_type = 'context_based' AND cue IS NULL));
CREATE INDEX intention_by_generation ON intention (cue_generation, bank_key, intention_id)
    WHERE cue_generation <> 0;
CREATE INDEX intention_by_place ON intention (bank_key, place, intention_id) WHERE cue IS NOT NULL;

-- ready_at: when it is to be offered; NULL once it has ended. push_at: when it is to be sent next;
-- NULL once it was.
CREATE TABLE occurrence (
    bank_key INTEGER NOT NULL,
    occurrence_id BLOB NOT NULL,
    intention_id BLOB NOT NULL,
    slot TEXT NOT NULL,
    state TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    ready_at INTEGER,
    push_at INTEGER,
    token INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    missed INTEGER NOT NULL,
    data TEXT,
    PRIMARY KEY (bank_key, occurrence_id)
);
CREATE UNIQUE INDEX occurrence_by_slot ON occurrence (bank_key, intention_id, slot);
CREATE INDEX occurrence_by_ready ON occurrence (bank_key, ready_at, occurrence_id)
    WHERE ready_at IS NOT NULL;
CREATE INDEX occurrence_push ON occurrence (push_at, bank_key, occurrence_id)
    WHERE push_at IS NOT NULL;

CREATE TABLE event (
    bank_key INTEGER NOT NULL,
    event_id TEXT NOT NULL,
    name TEXT NOT NULL,
    at INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    data TEXT,
    PRIMARY KEY (bank_key, event_id)
);
CREATE INDEX event_by_name ON event (bank_key, name, at, event_id);
CREATE INDEX event_by_time ON event (bank_key, at, event_id);
CREATE INDEX event_by_receipt ON event (bank_key, received_at);

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('intention', 'sqlite_autoindex_intention_1', '1000000 100000 1'),
    ('intention', 'intention_by_due', '600000 60000 2 1'),
    ('intention', 'intention_due', '600000 2 1'),
    ('intention', 'intention_by_event', '200000 20000 10 1'),
    ('intention', 'intention_by_source', '100000 10000 2'),
    ('intention', 'intention_by_state', '1000000 100000 50000 1 1'),
    ('intention', 'intention_unindexed', '1000 100 1'),
    ('intention', 'intention_by_generation', '200000 200000 20000 1'),
    ('intention', 'intention_by_place', '200000 20000 10 1'),
    ('occurrence', 'sqlite_autoindex_occurrence_1', '1000000 100000 1'),
    ('occurrence', 'occurrence_by_slot', '1000000 100000 10 1'),
    ('occurrence', 'occurrence_by_ready', '10000 1000 2 1'),
    ('occurrence', 'occurrence_push', '10000 2 1 1'),
    ('event', 'sqlite_autoindex_event_1', '1000000 100000 1'),
    ('event', 'event_by_name', '1000000 100000 100 2 1'),
    ('event', 'event_by_time', '1000000 100000 2 1'),
    ('event', 'event_by_receipt', '1000000 100000 2');
