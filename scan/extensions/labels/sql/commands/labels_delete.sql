-- Removes the labels of addresses.
-- params: addresses bytea[]
-- returns: nothing
-- index: labels_pkey
DELETE FROM labels WHERE address = ANY (%(addresses)s::bytea[]);
