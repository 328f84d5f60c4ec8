-- Events of approvals have these numbers, so that an index can be of them alone: Approval,
-- ApprovalForAll, Approval, Permit and Lockdown of Permit2, and OperatorSet of ERC-6909. APPROVAL_TOPICS of events.py has the same.
CREATE OR REPLACE FUNCTION number_approval_topic() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.topic_id := coalesce(-array_position(ARRAY[
        '\x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
        '\x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31',
        '\xda9fa7c1b00402c17d0161b249b1ab8bbec047c5a52207b9c112deffd817036b',
        '\xc6a377bfc4eb120024a8ac08eef205be16b817020812c73223e81d1bdb9708ec',
        '\x89b1add15eff56b3dfe299ad94e01f2b52fbcb80ae1a3baea6ae8c04cb2b98a4',
        '\xceb576d9f15e4e200fdb5096d64d5dfd667e16def20c1eefd14256d8e3faa267'
    ]::bytea[], NEW.topic0), NEW.topic_id);
    RETURN NEW;
END
$$;
CREATE OR REPLACE TRIGGER approval_topics_numbered BEFORE INSERT ON event_topics
    FOR EACH ROW EXECUTE FUNCTION number_approval_topic();

-- serves queries/approvals_list_events: approvals by their owner, the event's second topic
CREATE INDEX IF NOT EXISTS logs_of_approvals ON logs (substr(topics, 13, 20), ordinal)
    WHERE topic_id < 0;
