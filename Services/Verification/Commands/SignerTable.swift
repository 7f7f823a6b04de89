import Crypto
import Messages
import Postgres

/// What `verification.chains` says about the chains that sign for us.
enum SignerTable {
    /// At most ``ChainsRequested/mostChains``, the one that ends last first.
    static func read(in transaction: inout Transaction) throws -> [SignerChainState] {
        try transaction.query(
            """
            SELECT chain, subject, serial_number, first_seen_at, expires_at FROM verification.chains
            ORDER BY expires_at DESC NULLS LAST, chain LIMIT $1
            """, [.int8(Int64(ChainsRequested.mostChains))]
        ).map { row in
            SignerChainState(
                chain: Hex.encode(try row.bytes("chain")), subject: try row.text("subject"),
                serialNumber: try row.text("serial_number"),
                firstSeenAt: try row.timestampMilliseconds("first_seen_at"),
                expiresAt: try row.optionalInt8("expires_at"))
        }
    }
}
