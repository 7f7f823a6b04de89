import Messages

/// What a product granted from one moment on.
struct ProductVersion: Sendable, Equatable {
    /// The catalogue version that brought it.
    var version: Int64
    /// From when it is in force (ms since 1970): the commit of the import.
    var effectiveFrom: Int64
    /// The definition.
    var product: CatalogProduct
}
