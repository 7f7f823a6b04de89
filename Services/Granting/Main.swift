@main
enum GrantingMain {
    static func main() {}
}
