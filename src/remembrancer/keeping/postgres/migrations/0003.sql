-- What nothing has ended, and what is against another, by slot: what is added to the end of a long one
-- is settled by these alone.
CREATE INDEX claim_by_standing ON claim (bank_key, slot, stance, at) WHERE ends IS NULL;
CREATE INDEX claim_by_dispute ON claim (bank_key, slot) WHERE against IS NOT NULL;
