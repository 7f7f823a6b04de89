/// Questions of Apple and answers to it, spoiled by hand.
extension Corruption {
    static let consumption = [
        Corruption(
            "a clock of Apple's question", "DELETE FROM intake.consumption_requests WHERE state = 'pending'",
            ["consumption.requests"], line: "has no clock"),
        Corruption(
            "a question that nobody asked",
            "UPDATE intake.consumption_requests SET notification_uuid = gen_random_uuid() WHERE state = 'pending'",
            ["consumption.requests"], line: "was not asked"),
        Corruption(
            "a question open beyond its deadline",
            "UPDATE intake.consumption_requests SET deadline = 1000 WHERE state = 'pending'", ["consumption.ends"],
            line: "open beyond its deadline"),
        Corruption(
            "a question that expired without a reason",
            """
            UPDATE intake.consumption_requests SET state = 'expired', reason = 'new', ended_at = 1 WHERE state = 'pending'
            """, ["consumption.ends"], line: "expired without a reason"),
        Corruption(
            "an answer that nobody gave",
            """
            UPDATE intake.consumption_attempts SET outcome = 'server_api.refused'
            """, ["consumption.attempts"], line: "told, and no attempt was accepted"),
        Corruption(
            "an attempt that vanished", "DELETE FROM intake.consumption_attempts", ["consumption.attempts"],
            line: "0 attempts, counted 1"),
        Corruption(
            "an accepted answer that does not count",
            """
            UPDATE intake.consumption_requests SET state = 'refused', reason = 'apple_refused' WHERE state = 'sent'
            """, ["consumption.attempts"], line: "accepted by Apple, and refused"),
    ]
}
