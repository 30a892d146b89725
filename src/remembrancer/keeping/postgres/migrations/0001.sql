-- Every table about a bank has the bank's key as the first column of its primary key and of every
-- unique key, and no foreign key: so it can be spread over nodes by that column. `meta` and
-- `generation` are small and the same everywhere. Text is compared by its bytes, as Python does.

CREATE TABLE meta (
    name text COLLATE "C" PRIMARY KEY,
    value bigint NOT NULL
);

-- schema: how many migrations have run. revision_floor: no bank may ever stand again at a revision
-- that a dropped bank has had. unsettled: changes of `generation` since all banks followed them.
INSERT INTO meta (name, value)
VALUES ('schema', 0), ('revision_floor', 0), ('last_generation', 0), ('unsettled', 0);
-- A number that no other database has, so that no cache is taken for one of another.
INSERT INTO meta (name, value) VALUES
    ('identity', ('x' || left(replace(gen_random_uuid()::text, '-', ''), 15))::bit(60)::bigint);

CREATE TABLE generation (
    number bigint PRIMARY KEY,
    fingerprint text NOT NULL,
    active smallint NOT NULL
);

CREATE TABLE bank (
    bank_key bigint PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    trimmed_to bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    sources bigint NOT NULL DEFAULT 0,
    facts bigint NOT NULL DEFAULT 0,
    observations bigint NOT NULL DEFAULT 0,
    documents bigint NOT NULL DEFAULT 0,
    entities bigint NOT NULL DEFAULT 0,
    links bigint NOT NULL DEFAULT 0,
    profile text COLLATE "C" NOT NULL DEFAULT '{}'
) WITH (fillfactor = 70);
-- The key is a hash of both, so they need no unique key of their own.
CREATE INDEX bank_by_name ON bank (tenant, name);

CREATE TABLE document (
    bank_key bigint NOT NULL,
    document_id bytea NOT NULL,
    name text COLLATE "C" NOT NULL,
    content_hash text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    length bigint NOT NULL,
    tags text COLLATE "C",
    metadata text COLLATE "C",
    params text COLLATE "C",
    PRIMARY KEY (bank_key, document_id)
);
CREATE UNIQUE INDEX document_by_name ON document (bank_key, name);
CREATE INDEX document_by_update ON document (bank_key, updated_at, document_id);

CREATE TABLE chunk (
    bank_key bigint NOT NULL,
    document_id bytea NOT NULL,
    chunk_index bigint NOT NULL,
    text text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank_key, document_id, chunk_index)
);

-- NULL stands for the default of the noun.
CREATE TABLE unit (
    bank_key bigint NOT NULL,
    unit_id bytea NOT NULL,
    layer smallint NOT NULL,
    kind smallint NOT NULL,
    source_id bytea,
    speaker text COLLATE "C",
    role smallint NOT NULL,
    mentioned_at bigint NOT NULL,
    occurred_start bigint,
    occurred_end bigint,
    tags text COLLATE "C",
    document_id bytea,
    chunk_index bigint NOT NULL,
    turn bigint NOT NULL,
    part bigint NOT NULL,
    start_char bigint NOT NULL,
    end_char bigint NOT NULL,
    previous_id bytea,
    subject text COLLATE "C",
    polarity smallint NOT NULL,
    modality text COLLATE "C",
    precision text COLLATE "C",
    offset_min bigint,
    valid_from bigint,
    valid_until bigint,
    created_at bigint NOT NULL,
    updated_at bigint,
    importance double precision,
    note text COLLATE "C",
    attributes text COLLATE "C",
    metadata text COLLATE "C",
    entities text COLLATE "C",
    text text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank_key, unit_id)
);
CREATE INDEX unit_by_id ON unit (unit_id);
CREATE INDEX unit_by_time ON unit (bank_key, mentioned_at, unit_id, layer);
-- A source and what was read from it, side by side: one look-up finds both.
CREATE INDEX unit_by_source ON unit (bank_key, (COALESCE(source_id, unit_id)));
CREATE INDEX unit_by_document ON unit (bank_key, document_id) WHERE document_id IS NOT NULL;
CREATE INDEX unit_by_previous ON unit (bank_key, previous_id) WHERE previous_id IS NOT NULL;
-- The memories that come first whatever else does: pinned ones and standing instructions. The
-- condition is the one of the query `priming_pinned`. JSON with a NUL is not read: it cannot be.
CREATE INDEX unit_pinned ON unit (bank_key, mentioned_at, unit_id)
    WHERE layer <> 1 AND (strpos(tags, '["pinned"') > 0 OR strpos(tags, ',"pinned"') > 0
        OR strpos(tags, '["instruction"') > 0 OR strpos(tags, ',"instruction"') > 0
        OR CASE WHEN strpos(attributes, '"pinned":') > 0 AND strpos(attributes, '\u0000') = 0
            THEN attributes::json ->> 'pinned' IN ('true', '1') ELSE false END
        OR CASE WHEN strpos(metadata, '"pinned":"true"') > 0 AND strpos(metadata, '\u0000') = 0
            THEN metadata::json ->> 'pinned' = 'true' ELSE false END);

-- What the index alone reads of a unit, so that the rows of `unit` are short and a page holds many.
-- A unit read from a source has no row unless it has terms. window_terms: NULL when they are the
-- same as terms.
CREATE TABLE search (
    bank_key bigint NOT NULL,
    unit_id bytea NOT NULL,
    terms bytea NOT NULL,
    window_terms bytea,
    PRIMARY KEY (bank_key, unit_id)
);

-- window_codes: NULL when there is no window vector, empty when it equals the unit's own.
CREATE TABLE vector (
    bank_key bigint NOT NULL,
    generation bigint NOT NULL,
    unit_id bytea NOT NULL,
    codes bytea NOT NULL,
    scale double precision NOT NULL,
    window_codes bytea,
    window_scale double precision,
    PRIMARY KEY (bank_key, generation, unit_id)
);
-- Codes look random, and compressing them costs time and gains nothing.
ALTER TABLE vector ALTER COLUMN codes SET STORAGE EXTERNAL;
ALTER TABLE vector ALTER COLUMN window_codes SET STORAGE EXTERNAL;

-- The units that have no vector of a generation: exactly unit x generation minus vector.
CREATE TABLE pending (
    bank_key bigint NOT NULL,
    generation bigint NOT NULL,
    unit_id bytea NOT NULL,
    PRIMARY KEY (bank_key, generation, unit_id)
);
CREATE INDEX pending_by_generation ON pending (generation, bank_key, unit_id);

CREATE TABLE access (
    bank_key bigint NOT NULL,
    unit_id bytea NOT NULL,
    count bigint NOT NULL,
    last_at bigint,
    PRIMARY KEY (bank_key, unit_id)
) WITH (fillfactor = 80);

CREATE TABLE entity (
    bank_key bigint NOT NULL,
    entity_id bytea NOT NULL,
    name text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    aliases text COLLATE "C",
    mention_count bigint NOT NULL,
    first_seen bigint,
    last_seen bigint,
    PRIMARY KEY (bank_key, entity_id)
);
CREATE UNIQUE INDEX entity_by_name ON entity (bank_key, name);
CREATE INDEX entity_by_count ON entity (bank_key, mention_count DESC, name);

-- The names of entities as they are compared (see `nouns.folding`): in a bank each belongs to one
-- entity. explicit: 1 for another name that people gave it, 0 for its own.
CREATE TABLE entity_alias (
    bank_key bigint NOT NULL,
    folded text COLLATE "C" NOT NULL,
    entity_id bytea NOT NULL,
    explicit smallint NOT NULL,
    PRIMARY KEY (bank_key, folded)
);
CREATE INDEX entity_alias_by_entity ON entity_alias (bank_key, entity_id, folded);

CREATE TABLE mention (
    bank_key bigint NOT NULL,
    unit_id bytea NOT NULL,
    entity_id bytea NOT NULL,
    mentioned_at bigint NOT NULL,
    layer smallint NOT NULL,
    PRIMARY KEY (bank_key, unit_id, entity_id)
);
CREATE INDEX mention_by_time ON mention (bank_key, entity_id, mentioned_at, unit_id, layer);

CREATE TABLE link (
    bank_key bigint NOT NULL,
    source bytea NOT NULL,
    type smallint NOT NULL,
    target bytea NOT NULL,
    weight double precision NOT NULL,
    PRIMARY KEY (bank_key, source, type, target)
);
CREATE INDEX link_by_target ON link (bank_key, target, type, weight);

CREATE TABLE change (
    bank_key bigint NOT NULL,
    revision bigint NOT NULL,
    seq bigint NOT NULL,
    op smallint NOT NULL,
    unit_id bytea NOT NULL,
    PRIMARY KEY (bank_key, revision, seq)
);

-- seq: the order in which a bank's jobs were queued.
-- batch: 1 for a parent, whose state is that of its children and which nobody claims.
-- kept: 0 once the payload was forgotten, or is to go when the job ends.
-- ready_at: 0: a worker may take the job now; a time: from then on; NULL: not at all, for it has
-- ended, is a parent, or waits for an earlier job of its document.
CREATE TABLE job (
    bank_key bigint NOT NULL,
    job_id bytea NOT NULL,
    kind text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    payload text COLLATE "C" NOT NULL,
    result text COLLATE "C",
    error text COLLATE "C",
    attempts bigint NOT NULL,
    run_after bigint NOT NULL,
    lease_until bigint,
    fence bigint NOT NULL,
    ready_at bigint,
    tenant text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    parent bytea,
    part bigint NOT NULL,
    batch smallint NOT NULL,
    document text COLLATE "C",
    items bigint NOT NULL,
    priority bigint NOT NULL,
    listed smallint NOT NULL,
    kept smallint NOT NULL,
    progress text COLLATE "C",
    PRIMARY KEY (bank_key, job_id)
);
CREATE INDEX job_ready ON job (kind, priority, tenant, bank_key, seq, job_id) WHERE ready_at = 0;
CREATE INDEX job_later ON job (ready_at, bank_key, job_id) WHERE ready_at > 0;
CREATE INDEX job_by_seq ON job (bank_key, seq, state, kind, batch, listed, job_id, parent);
CREATE INDEX job_by_parent ON job (bank_key, parent, part, state, updated_at)
    WHERE parent IS NOT NULL;
CREATE INDEX job_by_document ON job (bank_key, document, state, seq, job_id)
    WHERE document IS NOT NULL;
CREATE INDEX job_by_id ON job (job_id);

CREATE TABLE due (
    bank_key bigint NOT NULL,
    trigger_id bytea NOT NULL,
    due_at bigint NOT NULL,
    payload text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank_key, trigger_id)
);
CREATE INDEX due_by_time ON due (due_at, trigger_id);

CREATE TABLE blob (
    bank_key bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    expires_at bigint,
    value bytea NOT NULL,
    PRIMARY KEY (bank_key, key)
);
CREATE INDEX blob_by_expiry ON blob (expires_at) WHERE expires_at IS NOT NULL;

-- Small JSON rows beside memories: webhooks, audit entries and the like.
CREATE TABLE record (
    bank_key bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    data text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank_key, kind, key)
);
CREATE INDEX record_by_creation ON record (bank_key, kind, created_at, key);
CREATE INDEX record_by_kind ON record (kind, created_at, bank_key, key);

-- What a unit says, as a key: units of one bank with the same key say the same.
CREATE TABLE sameness (
    bank_key bigint NOT NULL,
    unit_id bytea NOT NULL,
    same bytea NOT NULL,
    PRIMARY KEY (bank_key, unit_id)
);
CREATE INDEX sameness_by_key ON sameness (bank_key, same, unit_id);

-- What people have done to units: invalid ones are kept and no longer found. data: why, when, and
-- what stood there before.
CREATE TABLE curation (
    bank_key bigint NOT NULL,
    unit_id bytea NOT NULL,
    invalid smallint NOT NULL,
    data text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank_key, unit_id)
);
CREATE INDEX curation_invalid ON curation (bank_key, unit_id) WHERE invalid = 1;

-- What the agent means to do later. data: what is not looked for.
CREATE TABLE intention (
    bank_key bigint NOT NULL,
    intention_id bytea NOT NULL,
    place bigint NOT NULL,
    version bigint NOT NULL,
    state text COLLATE "C" NOT NULL,
    trigger_type text COLLATE "C" NOT NULL,
    next_due bigint,
    event text COLLATE "C",
    source_id bytea,
    tier_rank double precision,
    importance double precision NOT NULL,
    expires_at bigint,
    threshold double precision,
    cue_generation bigint NOT NULL,
    standing smallint NOT NULL,
    data text COLLATE "C" NOT NULL,
    cue bytea,
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
    bank_key bigint NOT NULL,
    occurrence_id bytea NOT NULL,
    intention_id bytea NOT NULL,
    slot text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    due_at bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    ready_at bigint,
    push_at bigint,
    token bigint NOT NULL,
    attempts bigint NOT NULL,
    missed bigint NOT NULL,
    data text COLLATE "C",
    PRIMARY KEY (bank_key, occurrence_id)
);
CREATE UNIQUE INDEX occurrence_by_slot ON occurrence (bank_key, intention_id, slot);
CREATE INDEX occurrence_by_ready ON occurrence (bank_key, ready_at, occurrence_id)
    WHERE ready_at IS NOT NULL;
CREATE INDEX occurrence_push ON occurrence (push_at, bank_key, occurrence_id)
    WHERE push_at IS NOT NULL;

CREATE TABLE event (
    bank_key bigint NOT NULL,
    event_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    received_at bigint NOT NULL,
    data text COLLATE "C",
    PRIMARY KEY (bank_key, event_id)
);
CREATE INDEX event_by_name ON event (bank_key, name, at, event_id);
CREATE INDEX event_by_time ON event (bank_key, at, event_id);
CREATE INDEX event_by_receipt ON event (bank_key, received_at);

-- What facts say of attributes of subjects, by slot: which value holds when follows from these rows
-- alone. begins, ends, ended_by and against are what follows.
CREATE TABLE claim (
    bank_key bigint NOT NULL,
    unit_id bytea NOT NULL,
    number bigint NOT NULL,
    slot text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    stance bigint NOT NULL,
    at bigint NOT NULL,
    since bigint,
    until bigint,
    flags bigint NOT NULL,
    begins bigint,
    ends bigint,
    ended_by bytea,
    against bytea,
    PRIMARY KEY (bank_key, unit_id, number)
);
CREATE INDEX claim_by_slot ON claim (bank_key, slot, at, unit_id, number);
