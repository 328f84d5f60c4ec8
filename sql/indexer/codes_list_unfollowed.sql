-- Some of the codes of which it is not known yet how they pass calls on.
-- params: limit integer
-- literals: limit
-- returns: code_hash, code
-- index: codes_unfollowed
SELECT code_hash, code
FROM codes
WHERE delegation IS NULL
ORDER BY code_hash
LIMIT %(limit)s;
