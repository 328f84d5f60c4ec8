-- Has the plans of prepared statements made anew.
-- params: none
-- returns: nothing
-- index: none
DISCARD PLANS;
