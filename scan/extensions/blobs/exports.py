"""The columns of blobs in CSV files."""

from scan.extensions.exports.csv_cells import PARTIES, TIME, field

COLUMNS = {
    "blobs": (
        *TIME,
        field("versioned_hash", "versionedHash"),
        field("transaction", "transactionHash"),
        field("blob_index", "blobIndex"),
        *PARTIES[1:],
    ),
}
