import AppStore
import Crypto
import LegacyReceipts
import Messages

extension Verdict {
    /// Purchases of one product in a receipt at most: a subscription renewed weekly for nine years.
    private static let mostPurchases = 500

    /// Judges what a client handed in as its receipt for `product`: an app receipt, or already a signed transaction.
    ///
    /// - Parameter canAskApple: whether a receipt that cannot be judged here is ``unjudged(container:reason:)`` instead of
    ///   refused.
    static func ofReceipt(
        _ text: String, product: ProductID, for app: AppID, by receipts: ReceiptVerifier,
        or verifier: inout SignedDataVerifier, canAskApple: Bool = false, now: Int64
    ) -> Verdict {
        do throws(VerificationFailure) {
            switch try ReceiptText(Array(text.utf8)) {
            case .receipt(let bytes):
                do throws(VerificationFailure) {
                    return judge(try receipts.verify(bytes, now: now), product, app)
                } catch {
                    guard canAskApple, error.leavesReceiptOpen, ReceiptText.isSignedData(bytes) else { throw error }
                    return .unjudged(container: bytes, reason: error.reason.rawValue)
                }
            case .signedTransaction(let jws):
                let verdict = of(String(decoding: jws, as: UTF8.self), for: app, by: &verifier, now: now)
                guard case .genuine(_, let transaction) = verdict, transaction.productID != product else {
                    return verdict
                }
                return notInside
            }
        } catch {
            return refusal(error)
        }
    }

    /// Judges what Apple said about a receipt, by the same claims as one that was verified here.
    static func ofAnswer(
        _ answer: ReceiptAnswer, about container: [UInt8], product: ProductID, for app: AppID,
        by receipts: ReceiptVerifier, now: Int64
    ) -> Verdict {
        do throws(VerificationFailure) {
            let receipt = try answer.appReceipt()
            return judge(
                try receipts.verify(answered: receipt, environment: answer.environment, about: container, now: now),
                product, app)
        } catch {
            return refusal(error)
        }
    }

    /// Genuine, but for another product than the client says.
    private static let notInside = Verdict.refused(
        .appleTransactionVerifyFailed, reason: "product_not_in_receipt", nil)

    private static func judge(_ verified: VerifiedReceipt, _ product: ProductID, _ app: AppID) -> Verdict {
        guard verified.appID == app.rawValue else {
            return .refused(.appleTransactionVerifyFailed, reason: "app_mismatch", .otherApp)
        }
        let purchases = verified.purchases(of: product.rawValue)
        guard !purchases.isEmpty else { return notInside }
        guard purchases.count <= mostPurchases else {
            return .refused(
                .appleTransactionVerifyFailed, reason: VerificationFailure.Reason.tooLarge.rawValue, nil)
        }
        return .receipt(verified, purchases.map { VerifiedTransaction($0, in: verified) })
    }
}

extension VerifiedTransaction {
    /// One purchase of a receipt. What a receipt does not tell stays open: its type, token and price.
    fileprivate init(_ purchase: InAppPurchase, in verified: VerifiedReceipt) {
        self.init(
            environment: verified.environment == .production ? .production : .sandbox,
            transactionID: TransactionID(purchase.transactionID),
            originalTransactionID: TransactionID(purchase.originalTransactionID),
            bundleID: verified.receipt.bundleID, productID: ProductID(purchase.productID),
            // Only subscriptions that renew themselves have an end in a receipt.
            productType: purchase.expiresDate == nil ? "" : ProductType.autoRenewable.rawValue,
            ownership: OwnershipType.purchased.rawValue, quantity: purchase.quantity,
            purchaseDate: purchase.purchaseDate, signedDate: verified.receipt.creationDate,
            payloadHash: Self.receiptMark + Hex.encode(verified.contentSHA256))
        originalPurchaseDate = purchase.originalPurchaseDate
        expiresDate = purchase.expiresDate
        if let item = purchase.webOrderLineItemID, item != 0 { webOrderLineItemID = String(item) }
        revocationDate = purchase.cancellationDate
        revocationReason = purchase.cancellationDate == nil ? nil : purchase.cancellationReason
    }
}
