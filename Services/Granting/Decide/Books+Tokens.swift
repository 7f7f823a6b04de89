import Messages

/// A user's token to be issued.
struct TokenCase: Sendable {
    /// Who asks.
    var customer: CustomerID
    /// What they ask for.
    var request: TokenRequested
}

/// What became of it.
struct TokenDecision: Sendable, Equatable {
    /// For the caller.
    var answer: TokenAnswered
    /// For everybody.
    var announcements: [Announcement] = []
}

/// Tokens of users: one each, beside those of their orders.
extension Books {
    /// Decides a token request: the token the user has, or the one that was drawn. A redelivery finds what it made.
    mutating func decide(_ token: TokenCase) -> TokenDecision {
        let request = token.request
        remember(request.identities, of: token.customer)
        let used = usedOffers(of: token.customer, in: request.app)
        if let issued = userTokens[token.customer] {
            return TokenDecision(answer: TokenAnswered(appAccountToken: issued, usedOffers: used))
        }
        let key = TokenKey(app: request.app, token: request.appAccountToken)
        // Drawn twice by chance: the asker draws again.
        guard tokens[key] == nil else {
            return TokenDecision(answer: TokenAnswered(code: .purchasePending, appAccountToken: nil))
        }
        tokens[key] = IssuedToken(customer: token.customer)
        userTokens[token.customer] = request.appAccountToken
        changes.userTokens.append(key)
        let body = TokenIssued(
            customer: token.customer, appAccountToken: request.appAccountToken,
            userDigest: customers[token.customer]?.digest)
        return TokenDecision(
            answer: TokenAnswered(appAccountToken: request.appAccountToken, usedOffers: used),
            announcements: [Announcement(body: .tokenIssued(body), key: token.customer.rawValue)])
    }
}

/// What a client says of a purchase beside the signed text.
extension Books {
    /// Why the caller cannot mean this purchase, if it is not what they say: nothing is granted by their request.
    func contradiction(_ submission: Submission, _ purchase: Purchase) -> (AnswerCode, SecurityEvent?)? {
        guard let said = submission.expectation, let caller = submission.caller else { return nil }
        let statement = purchase.statement
        if let id = said.transactionID, id != statement.transactionID { return (.paymentTransactionInvalid, nil) }
        if let id = said.productID, id != statement.productID { return (.paymentProductMismatch, nil) }
        if let code = said.productCode, let mismatch = codeMismatch(code, purchase) { return (mismatch, nil) }
        guard let text = said.appAccountToken else { return nil }
        let token = owner(ofToken: text, in: purchase.app)
        return token?.customer == caller ? nil : (.appAccountTokenMismatch, .foreignToken)
    }

    /// A code that never named the product. Codes it had once are good: clients are older than catalogues. Of a product
    /// that the catalogue does not know nothing can be said: the purchase waits.
    private func codeMismatch(_ code: String, _ purchase: Purchase) -> AnswerCode? {
        let history = catalog(of: purchase.app).history
        guard let versions = history[purchase.statement.productID] else { return nil }
        if versions.contains(where: { $0.product.code == code }) { return nil }
        let isKnown = history.values.contains { versions in versions.contains { $0.product.code == code } }
        return isKnown ? .paymentProductMismatch : .unknownAppleProductID
    }
}
