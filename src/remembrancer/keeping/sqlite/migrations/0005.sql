-- Values of a job (`records.of_job`) are a part of its payload that is too large for a row: they go
-- with it, whoever takes it out. '0' comes after '/'.
CREATE TRIGGER job_values_spent AFTER UPDATE OF payload ON job
WHEN NEW.payload = '{}' AND OLD.payload <> '{}'
BEGIN
    DELETE FROM blob WHERE bank_key = NEW.bank_key
        AND key >= 'job/' || lower(hex(NEW.job_id)) || '/'
        AND key < 'job/' || lower(hex(NEW.job_id)) || '0';
END;

CREATE TRIGGER job_values_deleted AFTER DELETE ON job
BEGIN
    DELETE FROM blob WHERE bank_key = OLD.bank_key
        AND key >= 'job/' || lower(hex(OLD.job_id)) || '/'
        AND key < 'job/' || lower(hex(OLD.job_id)) || '0';
END;
