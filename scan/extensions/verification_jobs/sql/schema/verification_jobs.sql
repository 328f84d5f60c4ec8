-- Jobs that verify contracts.

-- Requested verifications, whose results anyone who has the id may ask for later. An unfinished job has its
-- request, and waits until `due_at`: to be run, or, while it runs, to be run by another process, as its lease
-- has expired by then.
CREATE TABLE IF NOT EXISTS verification_jobs (
    id uuid PRIMARY KEY,
    client text NOT NULL,          -- the address that the job is charged to
    address bytea NOT NULL,
    status text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'running', 'done', 'failed')),
    created_at timestamptz NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    due_at timestamptz NOT NULL,
    lease bigint,                  -- of the run under way; null: none is
    attempts integer NOT NULL DEFAULT 0, -- runs begun, without those that were postponed
    request json CHECK (octet_length(request::text) <= 12582912), -- null when the job is over
    match text CHECK (match IN ('full', 'partial', 'runtime')),
    creation_match text CHECK (creation_match IN ('full', 'partial')),
    message text,
    error_code text,               -- of a failed job
    form_field text,               -- of Blockscout's form, that shows why the job failed
    CHECK ((status IN ('done', 'failed')) = (finished_at IS NOT NULL)),
    CHECK ((finished_at IS NULL) = (request IS NOT NULL)),
    CHECK ((status = 'running') = (lease IS NOT NULL)),
    CHECK ((status = 'failed') = (error_code IS NOT NULL))
);
-- serves verification/jobs_list_unfinished, verification/jobs_extend_leases, verification/jobs_postpone
CREATE INDEX IF NOT EXISTS verification_jobs_unfinished
    ON verification_jobs (created_at, id) WHERE finished_at IS NULL;
-- serves verification/jobs_refuse
CREATE INDEX IF NOT EXISTS verification_jobs_refused ON verification_jobs (client) WHERE error_code = 'refused';
-- serves verification/jobs_sweep
CREATE INDEX IF NOT EXISTS verification_jobs_by_age ON verification_jobs (created_at);
