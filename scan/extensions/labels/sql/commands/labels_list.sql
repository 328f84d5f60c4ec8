-- Every label, by address.
-- params: none
-- returns: address text, label text
-- index: labels_pkey
SELECT hex(address), label FROM labels ORDER BY address;
