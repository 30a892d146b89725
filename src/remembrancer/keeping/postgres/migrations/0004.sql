-- A document's units in the order of what it says: what was said around a turn, and next after it, is
-- found without reading the whole document.
DROP INDEX unit_by_document;
CREATE INDEX unit_by_document ON unit (bank_key, document_id, turn, part)
    WHERE document_id IS NOT NULL;
