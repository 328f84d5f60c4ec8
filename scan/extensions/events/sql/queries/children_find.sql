-- The address in followed_contracts of a factory's children.
-- params: factory bytea, name text
-- literals: none
-- returns: one row: index version, the address (null: there are none of that name)
-- index: followed_contracts_name_key
SELECT index_version(), (SELECT c.address FROM followed_contracts c WHERE c.factory = %(factory)s AND c.name = %(name)s);
