-- name: bank_place
SELECT tenant, sealed FROM bank WHERE bank_key = ?1;

-- name: bank_sealed
UPDATE bank SET sealed = 1 WHERE bank_key = ?1;

-- name: bank_after
SELECT bank_key, tenant, name, sealed FROM bank
WHERE bank_key > ?1 ORDER BY bank_key LIMIT ?2;

-- name: tenant_banks
SELECT name FROM bank WHERE tenant = ?1 ORDER BY name LIMIT ?2;

-- name: tenant_key_of
SELECT key_id, wrapped FROM tenant_key WHERE tenant = ?1;

-- name: tenant_key_by_id
SELECT tenant, wrapped FROM tenant_key WHERE key_id = ?1;

-- name: tenant_key_insert
INSERT INTO tenant_key (tenant, key_id, wrapped) VALUES (?1, ?2, ?3)
ON CONFLICT (tenant) DO NOTHING;

-- name: tenant_key_list
SELECT tenant, key_id, wrapped FROM tenant_key ORDER BY tenant;

-- name: tenant_key_wrap
UPDATE tenant_key SET wrapped = ?3 WHERE tenant = ?1 AND key_id = ?2;

-- name: tenant_key_delete
DELETE FROM tenant_key WHERE tenant = ?1;
